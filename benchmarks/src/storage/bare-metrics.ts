import Database from 'better-sqlite3';

export interface Report {
  readonly application: string;
  readonly instance: string;
  readonly counts: readonly { readonly flag: string; readonly yes: number; readonly no: number }[];
}

/** Metrics by the driver alone, on the tables of a storage. */
export function openBareMetrics(path: string) {
  const database = new Database(path);
  database.pragma('synchronous = FULL');
  const see = database.prepare(
    `INSERT INTO flags_applications (name, strategies, description, url, icon, created_at, seen_at)
    VALUES (?, '[]', '', '', '', ?, ?) ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at`,
  );
  const seeInstance = database.prepare(
    `INSERT INTO flags_instances (application, id, client_ip, sdk_version, created_at, seen_at)
    VALUES (?, ?, '', '', ?, ?) ON CONFLICT (application, id) DO UPDATE SET seen_at = excluded.seen_at`,
  );
  const count = database.prepare(
    `INSERT INTO flags_counters (second, flag, yes, no) VALUES (?, ?, ?, ?)
    ON CONFLICT (second, flag) DO UPDATE SET yes = yes + excluded.yes, no = no + excluded.no`,
  );
  const use = database.prepare(
    `INSERT INTO flags_usage (application, flag, count) VALUES (?, ?, ?)
    ON CONFLICT (application, flag) DO UPDATE SET count = count + excluded.count`,
  );
  const sight = database.prepare(
    'INSERT INTO flags_last_seen (flag, at) VALUES (?, ?) ON CONFLICT (flag) DO UPDATE SET at = excluded.at',
  );
  const record = database.transaction(({ application, instance, counts }: Report, at: number) => {
    see.run(application, at, at);
    seeInstance.run(application, instance, at, at);
    for (const { flag, yes, no } of counts) {
      count.run(Math.ceil(at / 1000), flag, yes, no);
      sight.run(flag, at);
      use.run(application, flag, yes + no);
    }
  });
  return {
    record: (report: Report) => record.immediate(report, Date.now()),
    close: () => void database.close(),
  };
}
