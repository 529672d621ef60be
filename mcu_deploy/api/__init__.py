"""What a user does with models and boards, a module an action: build, run, validate, profile,
optimize. `mcu_deploy` gives these functions; the command line calls them."""
