import { metricsConformance } from '@flags/core/testing';
import { memoryMetrics } from '../../src/metrics/memory.js';

metricsConformance('memory', () => ({ metrics: memoryMetrics() }));
