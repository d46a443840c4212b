-- Lists the queues that have queued tasks, each read by one descent of the index.
-- @returns queue
with recursive queues(queue) as (
  select @least(queue, status = 'queued')
  union all
  select @least(queue, status = 'queued' and queue > queues.queue) from queues where queue is not null
)
select queue from queues where queue is not null
