-- How the reference SDKs claim: by queue over all names. Without it their claims sort the backlog.
-- The name is theirs, so that a database they set up has it already.
create index if not exists cairnq_tasks_claim_idx
  on cairnq_tasks (queue, priority desc, run_at_ms, id) where status = 'queued';
