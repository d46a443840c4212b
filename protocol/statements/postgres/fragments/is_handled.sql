-- Whether one of the `lanes` takes a name.
-- @param queue the queue
-- @param name the name
exists (select 1 from lanes where lanes.queue = @queue and coalesce(lanes.name, @name) = @name)
