-- What a drain must know of schedules, as JSON: the stored revision of the worker's group, schedules that are due, at
-- most 20 of those that any worker fires and of those whose payload only its group knows, and when the next one is.
-- Null if there are none, and the worker has no group. Where there are none, no row is read: with a range, its end
-- would be.
(
  select jsonb_build_object(
    'group', (
      select jsonb_build_object('revision', revision, 'fingerprint', fingerprint)
      from wadi_schedule_groups where group_name = :schedule_group::text
    ),
    'next_at_ms', (
      select min(next_at_ms) from (
        (
          select next_at_ms from wadi_schedules
          where paused_at_ms is null and not (next_at_ms is null) and dynamic = 0
            and next_at_ms > (select ms from now)
          order by next_at_ms limit 1
        )
        union all
        (
          select next_at_ms from wadi_schedules
          where paused_at_ms is null and not (next_at_ms is null) and dynamic = 1 and group_name = :schedule_group::text
            and next_at_ms > (select ms from now)
          order by next_at_ms limit 1
        )
      ) next
    ),
    'due', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'group', group_name, 'name', name, 'at_ms', next_at_ms, 'from_ms', from_ms, 'last_slot_ms', last_slot_ms,
        'timing', timing::jsonb, 'policy', policy, 'overlap', overlap, 'dynamic', dynamic, 'limits', task->'limits'
      )), '[]'::jsonb)
      from (
        (
          select * from wadi_schedules
          where paused_at_ms is null and not (next_at_ms is null) and dynamic = 0
            and next_at_ms <= (select ms from now)
          order by next_at_ms limit 20
        )
        union all
        (
          select * from wadi_schedules
          where paused_at_ms is null and not (next_at_ms is null) and dynamic = 1 and group_name = :schedule_group::text
            and next_at_ms <= (select ms from now)
          order by next_at_ms limit 20
        )
      ) due
    )
  )::text
  where :schedule_group::text is not null
    or exists (select 1 from wadi_schedules where paused_at_ms is null and not (next_at_ms is null) and dynamic = 0)
)
