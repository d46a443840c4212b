create index if not exists wadi_tasks_queued_idx
  on cairnq_tasks (queue, name, concurrency_key, priority desc, run_at_ms, id) where status = 'queued';

create index if not exists cairnq_tasks_lease_idx
  on cairnq_tasks (lease_until_ms) where status = 'running' and lease_until_ms is not null;

create index if not exists wadi_tasks_done_idx
  on cairnq_tasks (queue, status, completed_at_ms, id) where completed_at_ms is not null;

create index if not exists wadi_tasks_root_idx on cairnq_tasks (root_id) where parent_id is not null;

create index if not exists wadi_tasks_correlation_idx
  on cairnq_tasks (correlation_id) where correlation_id is not null;

create index if not exists wadi_task_keys_task_idx on cairnq_task_keys (task_id);
