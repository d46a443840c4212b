-- Ends one pause, of exactly this queue and name. Without it nothing changes.
-- @param queue text
-- @param name text
-- @returns notified
delete from wadi_pauses where queue = coalesce(@guard(), :queue) and name = :name
returning 0 as notified
