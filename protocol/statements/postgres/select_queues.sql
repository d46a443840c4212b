-- Lists the queues that have queued tasks, each read by one descent of the index.
-- @returns queue
select queue from @distinct(queue, status = 'queued') as found(queue)
