#pragma once
#include "../freertos/FreeRTOS.h"
#define irq_lock() stub_interrupts_off()
#define irq_unlock(held) stub_interrupts_back(held)
