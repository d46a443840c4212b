-- What a drain must know of schedules, as JSON: the stored revision of the worker's group, at most 20 schedules that
-- are due, and when the next one is. Null if there are none, and the worker has no group. Of the schedules whose
-- payload only the workers of their group know, those of other groups are left out.
(
  select json_object(
    'group', json((
      select json_object('revision', revision, 'fingerprint', fingerprint)
      from wadi_schedule_groups where group_name = :schedule_group
    )),
    'next_at_ms', (
      select next_at_ms from wadi_schedules
      where paused_at_ms is null and next_at_ms > (select ms from now)
        and (dynamic = 0 or group_name = :schedule_group)
      order by next_at_ms limit 1
    ),
    'due', json((
      select json_group_array(json_object(
        'group', group_name, 'name', name, 'at_ms', next_at_ms, 'from_ms', from_ms, 'last_slot_ms', last_slot_ms,
        'timing', json(timing), 'policy', json(policy), 'overlap', overlap, 'dynamic', dynamic,
        'limits', json(task->'limits')
      ))
      from (
        select * from wadi_schedules
        where paused_at_ms is null and next_at_ms <= (select ms from now)
          and (dynamic = 0 or group_name = :schedule_group)
        order by next_at_ms limit 20
      )
    ))
  )
  where :schedule_group is not null
    or (
      select next_at_ms from wadi_schedules
      where paused_at_ms is null and next_at_ms > 0 order by next_at_ms limit 1
    ) is not null
)
