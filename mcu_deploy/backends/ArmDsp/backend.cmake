# ArmDsp generates all of its C: there is no file to compile beforehand.
mcu_backend(ArmDsp)
