/* Where a convolution looks. */
typedef struct {
    int channels, height, width; /* of one group's input */
    int rows, out_height, out_width;
    int kernel_height, kernel_width, stride_height, stride_width;
    int padding_height, padding_width, dilation_height, dilation_width;
} scn_window;
