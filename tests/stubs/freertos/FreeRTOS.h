#pragma once
unsigned stub_interrupts_off(void);
void stub_interrupts_back(unsigned);
#define portSET_INTERRUPT_MASK_FROM_ISR() stub_interrupts_off()
#define portCLEAR_INTERRUPT_MASK_FROM_ISR(held) stub_interrupts_back(held)
