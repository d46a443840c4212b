-- Whether a pause holds a lane: one of its queue, of its name, or of the name in that queue. It reads no more than the
-- pauses it finds, so where there are none, nothing.
-- @param queue the queue
-- @param name the name; '' for a lane that takes every name
exists (select 1 from wadi_pauses where queue in (@queue, '') and name in (@name, ''))
