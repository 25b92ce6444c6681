"""On the device: build the exported C for a processor, run it in an emulator and measure it.

`targets` is the table of processors; `build` compiles and reads the sizes, `emulate` runs and counts,
`measure` does both for a run and compares every output with torch.
"""
