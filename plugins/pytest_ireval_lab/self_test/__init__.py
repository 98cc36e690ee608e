"""A suite is tested itself: its false alarms, the damage that it notices, and the noise of its source."""
