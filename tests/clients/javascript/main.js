// A client of Kinglet that is made of the JavaScript client library.
//
// Each check prints a line, `ok NAME` or `FAILED NAME: why`; the exit code says whether all are well.
// The library is looked for in $CLIENT_LIBRARIES.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const require = createRequire(`${process.env.CLIENT_LIBRARIES}/`);
const k8s = require('@kubernetes/client-node');

const namespace = 'javascript';
const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);

async function eventually(what, done) {
  const end = Date.now() + 60_000;
  while (!(await done())) {
    assert(Date.now() < end, `${what}: not within a minute`);
    await sleep(50);
  }
}

const refused = (code, call) => assert.rejects(call, (error) => error.code === code);

async function typed() {
  const body = { metadata: { name: 'typed' }, data: { a: '1' } };
  const made = await core.createNamespacedConfigMap({ namespace, body });
  assert(made.metadata.uid && made.metadata.creationTimestamp instanceof Date);
  made.data.b = '2';
  await core.replaceNamespacedConfigMap({ namespace, name: 'typed', body: made });
  await refused(409, core.replaceNamespacedConfigMap({ namespace, name: 'typed', body: made }));
  await refused(409, core.createNamespacedConfigMap({ namespace, body }));
  await refused(404, core.readNamespacedConfigMap({ namespace, name: 'nothing' }));
  await refused(422, core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'Not_A_Name' } } }));
  const patch = [{ op: 'add', path: '/data/c', value: '3' }];
  const patched = await core.patchNamespacedConfigMap({ namespace, name: 'typed', body: patch });
  assert.deepEqual(patched.data, { a: '1', b: '2', c: '3' });
  const list = await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=typed', limit: 1 });
  assert.equal(list.items.length, 1);
  await core.deleteNamespacedConfigMap({ namespace, name: 'typed' });
}

async function objects() {
  const api = k8s.KubernetesObjectApi.makeApiClient(config);
  const metadata = { namespace, name: 'object' };
  const made = await api.create({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata, spec: { podSelector: {} } });
  assert.deepEqual(made.spec.policyTypes, ['Ingress']);
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: '1' } };
  const patched = await api.patch(applied, undefined, undefined, 'javascript', undefined, k8s.PatchStrategy.ServerSideApply);
  assert.equal(patched.metadata.managedFields[0].operation, 'Apply');
  assert((await api.list('v1', 'ConfigMap', namespace)).items.length >= 1);
  await api.delete(applied);
}

async function informers() {
  const list = () => core.listNamespacedConfigMap({ namespace });
  const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list);
  const seen = [];
  for (const event of ['add', 'update', 'delete']) {
    informer.on(event, (object) => object.metadata.name === 'informed' && seen.push(event));
  }
  await informer.start();
  const body = { metadata: { name: 'informed' }, data: {} };
  await core.createNamespacedConfigMap({ namespace, body });
  await core.replaceNamespacedConfigMap({ namespace, name: 'informed', body: { ...body, data: { a: '1' } } });
  await core.deleteNamespacedConfigMap({ namespace, name: 'informed' });
  await eventually('three events', () => seen.length === 3);
  await informer.stop();
  assert.deepEqual(seen, ['add', 'update', 'delete']);
}

async function streams() {
  const container = { name: 'c', image: 'kinglet.dev/shell:1', command: ['sh', '-c', 'echo started; sleep 1000'] };
  const body = { metadata: { name: 'streams' }, spec: { terminationGracePeriodSeconds: 0, containers: [container] } };
  await core.createNamespacedPod({ namespace, body });
  const phase = async () => (await core.readNamespacedPod({ namespace, name: 'streams' })).status.phase;
  await eventually('the pod runs', async () => (await phase()) === 'Running');
  await eventually('its log', async () => (await core.readNamespacedPodLog({ namespace, name: 'streams' })) === 'started\n');
  const output = new PassThrough();
  let printed = '';
  output.on('data', (bytes) => (printed += bytes));
  const status = await new Promise((resolve, reject) => {
    const command = ['sh', '-c', 'echo hello; exit 3'];
    new k8s.Exec(config).exec(namespace, 'streams', 'c', command, output, output, null, false, resolve).catch(reject);
  });
  assert.equal(printed, 'hello\n');
  assert.equal(status.details.causes[0].message, '3');
  await core.deleteNamespacedPod({ namespace, name: 'streams' });
}

const checks = [typed, objects, informers, streams];

await core.createNamespace({ body: { metadata: { name: namespace } } });
await eventually('the default service account', async () => (await core.listNamespacedServiceAccount({ namespace })).items.length > 0);
let failed = false;
for (const check of checks) {
  try {
    await check();
    console.log('ok', check.name);
  } catch (error) {
    failed = true;
    console.log('FAILED', `${check.name}:`, error);
  }
}
process.exit(failed ? 1 : 0);
