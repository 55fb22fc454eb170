// A client of Kinglet that is made of the JavaScript client library.
//
// Each check prints a line, `ok NAME` or `FAILED NAME: why`; the exit code says whether all are well.
// The library is looked for in $CLIENT_LIBRARIES. The argument `tour` chooses the tour of the client
// matrix instead, whose objects are those of $TOUR.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const require = createRequire(`${process.env.CLIENT_LIBRARIES}/`);
const k8s = require('@kubernetes/client-node');

const namespace = 'javascript';
const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);

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
  const printed = collected(output);
  const status = await new Promise((resolve, reject) => {
    const command = ['sh', '-c', 'echo hello; exit 3'];
    new k8s.Exec(config).exec(namespace, 'streams', 'c', command, output, output, null, false, resolve).catch(reject);
  });
  assert.equal(printed.text, 'hello\n');
  assert.equal(status.details.causes[0].message, '3');
  await core.deleteNamespacedPod({ namespace, name: 'streams' });
}

// The steps of the tour.

const named = { namespace, name: 'tour' };
const mine = { namespace, labelSelector: 'app=tour' };
const by = (strategy) => k8s.setHeaderOptions('Content-Type', strategy);

async function create() {
  const api = k8s.KubernetesObjectApi.makeApiClient(config);
  for (const object of JSON.parse(readFileSync(process.env.TOUR)).items) {
    await api.create({ ...object, metadata: { ...object.metadata, namespace } });
  }
}

async function watch() {
  const seen = [];
  const ended = [];
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const selected = { fieldSelector: 'metadata.name=watched' };
  const watching = await new k8s.Watch(config).watch(path, selected, (event) => seen.push(event), (error) => ended.push(error));
  const body = { metadata: { name: 'watched' } };
  const made = await core.createNamespacedConfigMap({ namespace, body });
  made.data = { a: '1' };
  await core.replaceNamespacedConfigMap({ namespace, name: 'watched', body: made });
  await core.deleteNamespacedConfigMap({ namespace, name: 'watched' });
  await eventually('three events', () => seen.length === 3 || ended.length > 0);
  watching.abort();
  assert.deepEqual(seen, ['ADDED', 'MODIFIED', 'DELETED']);
}

async function json() {
  const body = [{ op: 'test', path: '/data/a', value: '1' }, { op: 'replace', path: '/data/a', value: '2' }];
  const patched = await core.patchNamespacedConfigMap({ ...named, body }, by(k8s.PatchStrategy.JsonPatch));
  assert.deepEqual(patched.data, { a: '2' });
}

async function merge() {
  const body = { data: { a: null, b: '3' } };
  const patched = await core.patchNamespacedConfigMap({ ...named, body }, by(k8s.PatchStrategy.MergePatch));
  assert.deepEqual(patched.data, { b: '3' });
}

async function strategic() {
  const body = { spec: { ports: [{ name: 'more', port: 81 }] } };
  const patched = await core.patchNamespacedService({ ...named, body }, by(k8s.PatchStrategy.StrategicMergePatch));
  assert.equal(patched.spec.ports.length, 2);
}

async function apply() {
  const patch = (fieldManager, value) => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'tour' }, data: { c: value } };
    return core.patchNamespacedConfigMap({ ...named, body, fieldManager }, by(k8s.PatchStrategy.ServerSideApply));
  };
  assert.equal((await patch('tour', '4')).data.c, '4');
  await refused(409, patch('other', '5'));
}

async function rolledOut(replicas) {
  await eventually('all replicas', async () => {
    const { metadata, status } = await apps.readNamespacedDeployment(named);
    const counts = [status.replicas, status.updatedReplicas, status.availableReplicas];
    return status.observedGeneration >= metadata.generation && counts.every((count) => count === replicas);
  });
}

async function readyPod() {
  await rolledOut(1);
  const { items } = await core.listNamespacedPod(mine);
  assert.equal(items.length, 1);
  return items[0].metadata.name;
}

// What is printed into the stream.
function collected(stream) {
  const printed = { text: '' };
  stream.on('data', (bytes) => (printed.text += bytes));
  return printed;
}

async function exec() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const [pod, printed] = [await readyPod(), collected(output)];
  const command = ['sh', '-c', 'read line; echo $line; exit 3'];
  const status = await new Promise((resolve, reject) => {
    new k8s.Exec(config).exec(namespace, pod, 'web', command, output, output, input, false, resolve).catch(reject);
    input.write('hello\n');
  });
  assert.equal(printed.text, 'hello\n');
  assert.equal(status.details.causes[0].message, '3');
}

async function logs() {
  const output = new PassThrough();
  const printed = collected(output);
  await new k8s.Log(config).log(namespace, await readyPod(), 'web', output);
  await eventually('its log', () => printed.text.includes('started\n'));
}

async function forward() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const printed = collected(output);
  const socket = await new k8s.PortForward(config).portForward(namespace, await readyPod(), [80], output, null, input);
  input.write('GET / HTTP/1.0\r\nHost: tour\r\n\r\n');
  await eventually('the page', () => printed.text.includes('Welcome to nginx!'));
  socket.close();
}

async function scale() {
  const size = await apps.readNamespacedDeploymentScale(named);
  size.spec.replicas = 2;
  delete size.metadata.resourceVersion; // The controller writes beside us.
  assert.equal((await apps.replaceNamespacedDeploymentScale({ ...named, body: size })).spec.replicas, 2);
  await rolledOut(2);
}

async function rollout() {
  const annotations = { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString() };
  const body = { spec: { template: { metadata: { annotations } } } };
  await apps.patchNamespacedDeployment({ ...named, body }, by(k8s.PatchStrategy.StrategicMergePatch));
  await rolledOut(2);
  assert.equal((await apps.listNamespacedReplicaSet(mine)).items.length, 2);
}

async function remove() {
  await apps.deleteNamespacedDeployment({ ...named, propagationPolicy: 'Foreground' });
  await core.deleteNamespacedService(named);
  await core.deleteNamespacedConfigMap(named);
  await eventually('the deployment is gone', async () => (await apps.listNamespacedDeployment({ namespace })).items.length === 0);
  assert.equal((await core.listNamespacedPod(mine)).items.length, 0);
}

const checks = { typed, objects, informers, streams };
const tour = { create, watch, json, merge, strategic, apply, exec, logs, forward, scale, rollout, delete: remove, informer: informers };

const onTour = process.argv[2] === 'tour';
await core.createNamespace({ body: { metadata: { name: namespace } } });
await eventually('the default service account', async () => (await core.listNamespacedServiceAccount({ namespace })).items.length > 0);
let failed = false;
for (const [check, run] of Object.entries(onTour ? tour : checks)) {
  const name = onTour ? `tour/${check}` : check;
  try {
    await run();
    console.log('ok', name);
  } catch (error) {
    failed = true;
    console.log('FAILED', `${name}:`, error.stack ?? error.message ?? error);
  }
}
process.exit(failed ? 1 : 0);
