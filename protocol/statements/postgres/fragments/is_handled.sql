-- Whether one of the `lanes` takes a name, or a pause holds it.
-- @param queue the queue
-- @param name the name
(
  exists (select 1 from lanes where lanes.queue = @queue and coalesce(lanes.name, @name) = @name)
  or @is_paused(@queue, @name)
)
