-- Whether a start of a key lies within the window of the key's rate.
-- @param key the key
-- @param rate_per_ms how long the window is
(key = @key and started_at_ms > (select ms from now) - @rate_per_ms)
