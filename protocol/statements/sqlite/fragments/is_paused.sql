-- Whether a pause holds a lane: one of its queue, of its name, or of the name in that queue. It reads no more than the
-- pause it finds, so where there are none, nothing; with `in` it would read the lists.
-- @param queue the queue
-- @param name the name; '' for a lane that takes every name
(
  exists (select 1 from wadi_pauses where queue = @queue and name = '')
  or exists (select 1 from wadi_pauses where queue = @queue and name = @name)
  or exists (select 1 from wadi_pauses where queue = '' and name = @name)
)
