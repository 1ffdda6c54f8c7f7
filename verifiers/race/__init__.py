"""RACE: whether every two accesses to the same bytes, one of which writes, are ordered, whatever the trip counts and
branches. `flow` proves it for all runs, `runs` finds a run that shows the contrary; what neither does is UNKNOWN. The
rules are those of `rules`."""
