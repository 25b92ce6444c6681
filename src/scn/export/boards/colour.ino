    const float sum = (float)(red + green + blue);
    if (!(sum > 0.0f) || !ready) return;
    x[0] = (float)red / sum;
    x[1] = (float)green / sum;
    x[2] = (float)blue / sum;
    normalise();
    answer();
