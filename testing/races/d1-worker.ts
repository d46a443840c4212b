// The Cloudflare worker of the races: every request is a racer that runs one job on the D1 binding.

import { type D1Like, d1 } from "../../src/drivers/d1.ts";
import { Wadi } from "../../src/index.ts";
import { type JobName, runJob } from "./jobs.ts";

export default {
  async fetch(request: Request, { DB }: { DB: D1Like }): Promise<Response> {
    const { job, args } = (await request.json()) as { job: JobName; args: unknown };
    try {
      return Response.json(await runJob(new Wadi(d1(DB)), job, args));
    } catch (error) {
      return new Response(String((error as Error).stack), { status: 500 });
    }
  },
};
