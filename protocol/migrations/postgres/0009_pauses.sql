-- What no worker of the fleet claims: a queue, a name, or a name in a queue; '' stands for every queue or every name.
create table if not exists wadi_pauses (
  queue text not null,
  name text not null,
  paused_at_ms bigint not null,
  primary key (queue, name)
);
