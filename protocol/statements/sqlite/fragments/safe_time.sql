-- A time as a number that every driver can read: at most 2^53 - 1 from zero.
-- @param ms the time
(max(-9007199254740991, min(9007199254740991, @ms)) + 0.0)
