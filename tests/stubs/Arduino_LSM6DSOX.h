#pragma once
struct ImuStub {
    int begin();
    int accelerationAvailable();
    int readAcceleration(float &, float &, float &);
};
extern ImuStub IMU;
