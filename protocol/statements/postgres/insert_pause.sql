-- Pauses a queue, a name, or a name in a queue; '' stands for every queue or every name. A pause that is there already
-- keeps its time.
-- @param queue text
-- @param name text
-- @param now_ms integer?
-- @returns nothing
with @now()
insert into wadi_pauses (queue, name, paused_at_ms)
select coalesce(@guard(), :queue::text), :name::text, ms from now
on conflict (queue, name) do nothing
