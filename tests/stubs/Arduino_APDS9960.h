#pragma once
struct ApdsStub {
    bool begin();
    int colorAvailable();
    bool readColor(int &, int &, int &, int &);
};
extern ApdsStub APDS;
