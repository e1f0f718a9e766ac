"""Where values come from and where they go: functions as operations on values, and what those mean."""
