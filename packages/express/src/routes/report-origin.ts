import type { ReportOrigin } from '@flags/core';

export function reportOrigin(clientIp: string | undefined): ReportOrigin {
  return clientIp === undefined ? {} : { clientIp };
}
