import { answer } from "./handler.ts";

/** Longer than the budget of a drain. */
export const maxDuration = 60;

/** `/api/cron`: the handler's `/drain`. Cron jobs send GET, schedules may send POST. */
export function GET(request: Request): Promise<Response> {
  return answer(request, "/drain");
}

export const POST = GET;
