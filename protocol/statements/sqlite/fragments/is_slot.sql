-- Whether an item is about the slot that a schedule has next: a slot that was fired, moved on or paused is not fired
-- again.
-- @param item its JSON
(
  schedule.group_name = @item->>'group' and schedule.name = @item->>'name'
  and +schedule.next_at_ms = @item->>'at_ms' and schedule.paused_at_ms is null
)
