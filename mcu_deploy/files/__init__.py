"""Files and paths that come from a user or go to one: arrays, samples, JSON, and what is kept
between builds."""
