-- How the reference SDKs claim from a queue, and count by queue and status. Without it their claims sort the backlog.
-- Indexes for them have their names, so that a database they set up has each already. This one holds the task's name
-- too, so that a claim of some names reads no other rows.
create index if not exists cairnq_tasks_claim_idx
  on cairnq_tasks (queue, status, priority desc, run_at_ms, id, name);
