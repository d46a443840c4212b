-- The database's clock, in epoch milliseconds.
cast(round(unixepoch('subsec') * 1000) as integer)
