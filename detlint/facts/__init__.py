"""What calls do that programs depend on: seed, draw, build, train, turn on."""
