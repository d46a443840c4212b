-- How many leases may expire on a task before it fails; null: only its attempts count, as for what other SDKs submit.
alter table cairnq_tasks add column if not exists crash_limit integer;

-- Which tasks of a claim have not started. The claim's token: this one. The token and !: it may have, and so may
-- all tasks of the claim before it. Anything else: it may have.
alter table cairnq_tasks add column if not exists hold text;
