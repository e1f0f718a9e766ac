"""What the rounds of a loop leave behind, and whether that depends on their order."""
