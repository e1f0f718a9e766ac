"""Where values come from and where they go: functions as operations on values."""
