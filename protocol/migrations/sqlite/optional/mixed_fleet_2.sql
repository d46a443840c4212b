-- What else the reference SDKs look for by an index: the next task of one name, tasks to purge, and lists.
create index if not exists cairnq_tasks_claim_name_idx
  on cairnq_tasks (queue, status, name, priority desc, run_at_ms, id) where status = 'queued';

create index if not exists cairnq_tasks_completed_idx on cairnq_tasks (completed_at_ms);

create index if not exists cairnq_tasks_status_completed_idx on cairnq_tasks (status, completed_at_ms);

create index if not exists cairnq_tasks_queue_completed_idx
  on cairnq_tasks (queue, completed_at_ms) where status in ('succeeded', 'failed', 'canceled');

create index if not exists cairnq_tasks_name_idx on cairnq_tasks (name);

create index if not exists cairnq_tasks_root_idx on cairnq_tasks (root_id);

-- Their question whether anything is due reads a row for each index entry it passes: this way it passes due tasks only.
create index if not exists wadi_tasks_due_idx
  on cairnq_tasks (queue, status, run_at_ms, name) where status = 'queued';
