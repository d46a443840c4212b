-- Reserved for limits across a fleet; its place in the queued index is expensive to add later.
alter table cairnq_tasks add column concurrency_key text not null default '';
