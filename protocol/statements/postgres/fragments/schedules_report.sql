-- What a drain must know of schedules, as JSON: the stored revision of the worker's group, at most 20 schedules that
-- are due, and when the next one is. Null if there are none, and the worker has no group. Of the schedules whose
-- payload only the workers of their group know, those of other groups are left out.
(
  select jsonb_build_object(
    'group', (
      select jsonb_build_object('revision', revision, 'fingerprint', fingerprint)
      from wadi_schedule_groups where group_name = :schedule_group::text
    ),
    'next_at_ms', (
      select next_at_ms from wadi_schedules
      where paused_at_ms is null and next_at_ms > (select ms from now)
        and (dynamic = 0 or group_name = :schedule_group::text)
      order by next_at_ms limit 1
    ),
    'due', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'group', group_name, 'name', name, 'at_ms', next_at_ms, 'from_ms', from_ms, 'last_slot_ms', last_slot_ms,
        'timing', timing::jsonb, 'policy', policy, 'overlap', overlap, 'dynamic', dynamic, 'limits', task->'limits'
      )), '[]'::jsonb)
      from (
        select * from wadi_schedules
        where paused_at_ms is null and next_at_ms <= (select ms from now)
          and (dynamic = 0 or group_name = :schedule_group::text)
        order by next_at_ms limit 20
      ) due
    )
  )::text
  where :schedule_group::text is not null
    or exists (select 1 from wadi_schedules where paused_at_ms is null and next_at_ms > 0)
)
