import type { Flags } from '@flags/core';

/** Creates flags that show what there is: a rollout, a constraint, variants and a kill switch; and a day of usage. */
export async function createSamples(flags: Flags): Promise<void> {
  const project = 'default';
  const { environment } = flags.settings;
  const ref = (flag: string) => ({ project, flag, environment });
  await flags.as('samples').apply(
    [
      {
        op: 'createFlag',
        ref: { project },
        input: { name: 'checkout', description: 'The new checkout', labels: ['shop'], owner: 'shop' },
      },
      {
        op: 'addStrategy',
        ref: ref('checkout'),
        input: { name: 'flexibleRollout', parameters: { rollout: '25', groupId: 'checkout', stickiness: 'userId' } },
      },
      { op: 'enable', ref: ref('checkout') },
      {
        op: 'createFlag',
        ref: { project },
        input: { name: 'banner', type: 'experiment', description: 'Colors of the banner', labels: ['shop'] },
      },
      {
        op: 'addStrategy',
        ref: ref('banner'),
        input: { name: 'default', constraints: [{ contextName: 'country', operator: 'IN', values: ['DE', 'AT'] }] },
      },
      { op: 'enable', ref: ref('banner') },
      {
        op: 'setVariants',
        ref: { project, flag: 'banner' },
        input: [{ name: 'red' }, { name: 'blue' }],
      },
      {
        op: 'createFlag',
        ref: { project },
        input: { name: 'pay-later', type: 'kill-switch', description: 'Payment by invoice', owner: 'payments' },
      },
    ],
    { reason: 'Sample flags' },
  );
  await reportUsage(flags);
}

const HOUR = 3_600_000;
const HOURS = 24;

/** Reports usage of two applications for the latest hours, so that the charts of the admin page are not empty. */
async function reportUsage(flags: Flags): Promise<void> {
  const now = Date.now();
  const reports = Array.from({ length: HOURS }, (_, age) => {
    const stop = now - age * HOUR;
    // Busier in the afternoon, as shops are.
    const evaluations = Math.round(120 + 100 * Math.sin(((new Date(stop).getUTCHours() - 9) / 12) * Math.PI));
    const yes = Math.round(evaluations / 4);
    const red = Math.round(yes / 2);
    const checkout = { yes, no: evaluations - yes };
    const banner = { yes, no: evaluations - yes, variants: { red, blue: yes - red } };
    const bucket = { start: stop - HOUR / 60, stop };
    return [
      {
        appName: 'shop',
        environment: flags.settings.environment,
        bucket: { ...bucket, toggles: { checkout, banner } },
      },
      { appName: 'mobile', environment: flags.settings.environment, bucket: { ...bucket, toggles: { checkout } } },
    ];
  });
  await flags.reportMetricsInBulk({ reports: reports.flat().reverse() });
}
