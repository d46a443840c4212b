-- Whether a pause holds a lane: one of its queue, of its name, or of the name in that queue. As a value, and not as a
-- condition that the planner would turn into a join.
-- @param queue the queue
-- @param name the name; '' for a lane that takes every name
((select 1 from wadi_pauses where queue = any(array[@queue, '']) and name = any(array[@name, '']) limit 1) is not null)
