"""Trains a causal network on sequences of pages, with gradients clipped per person, and draws.

A page or an end is drawn given the four pages before, the position, and the shares of all pages so
far. One hidden layer. An experiment: its noise is ordinary floating point.

    python network.py visits.csv|generated BATCH STEPS NOISE CLIP RATE SEED FOLDER
"""
import csv, os, sys
import numpy as np
K, P, T, H = 4, 17, 32, 48
D = K*(P+1) + (T+1) + P + 1
def load(path):
    users, seqs = {}, []
    with open(path) as f:
        r = csv.reader(f); head = next(r); u, p = head.index('user'), head.index('page')
        for row in r:
            i = users.setdefault(row[u], len(seqs))
            if i == len(seqs): seqs.append([])
            seqs[i].append(int(row[p])-1)
    return seqs
def pack(seqs):
    n = len(seqs); a = np.full((n, T), -1, np.int8); l = np.zeros(n, np.int64)
    for i, s in enumerate(seqs):
        l[i] = len(s); a[i, :len(s)] = s
    return a, l
def inputs(a, t1):  # features of positions 0..t1 (t1+1 positions)
    n = len(a); x = np.zeros((n, t1+1, D), np.float32)
    pad = np.concatenate([np.full((n, K), P, np.int64), a[:, :t1].astype(np.int64)], 1)
    pad[pad < 0] = P
    I, J = np.arange(n)[:, None], np.arange(t1+1)[None]
    for k in range(K):
        x[I, J, k*(P+1) + pad[:, K-1-k:K-1-k+t1+1]] = 1
    x[:, np.arange(t1+1), K*(P+1)+np.arange(t1+1)] = 1
    one = np.zeros((n, t1+1, P+1), np.float32)
    if t1: one[I, J[:, 1:], pad[:, K:]] = 1
    bag = np.cumsum(one[:, :, :P], 1); bag /= np.maximum(np.arange(t1+1), 1)[None, :, None]
    x[:, :, -P-1:-1] = bag; x[:, :, -1] = 1
    return x
def forward(w, x):
    h = np.tanh(x @ w[0])
    h1 = np.concatenate([h, np.ones(h.shape[:-1]+(1,), np.float32)], -1)
    z = h1 @ w[1]; e = np.exp(z - z.max(-1, keepdims=True))
    return h, h1, e/e.sum(-1, keepdims=True)
def step(w, a, l, C):
    g = [np.zeros_like(v) for v in w]; loss = 0; clipped = 0
    order = np.argsort(l)
    for part in np.array_split(order, 8):
        if not len(part): continue
        aa, ll = a[part], l[part]; t1 = min(int(ll.max()), T-1)
        x = inputs(aa, t1); h, h1, p = forward(w, x)
        y = np.where(np.arange(t1+1)[None] < ll[:, None], aa[:, :t1+1], P).astype(np.int64)
        m = (np.arange(t1+1)[None] <= ll[:, None]).astype(np.float32)
        I, J = np.arange(len(part))[:, None], np.arange(t1+1)[None]
        loss += float(-(np.log(p[I, J, y]+1e-30)*m).sum())
        dz = p; dz[I, J, y] -= 1; dz *= m[..., None]
        dh = (dz @ w[1][:-1].T) * (1-h*h)
        n2 = ((x @ x.transpose(0, 2, 1)) * (dh @ dh.transpose(0, 2, 1))).sum((1, 2)) + \
             ((h1 @ h1.transpose(0, 2, 1)) * (dz @ dz.transpose(0, 2, 1))).sum((1, 2))
        c = np.minimum(1, C/np.sqrt(np.maximum(n2, 1e-12))).astype(np.float32)
        clipped += float((c < 1).sum())
        dh *= c[:, None, None]; dz *= c[:, None, None]
        g[0] += x.reshape(-1, D).T @ dh.reshape(-1, H)
        g[1] += h1.reshape(-1, H+1).T @ dz.reshape(-1, P+1)
    return g, loss, clipped
def train(a, l, B, steps, sigma, C, lr, seed):
    r = np.random.default_rng(seed); n = len(a)
    w = [(r.standard_normal((D, H))*.2).astype(np.float32), np.zeros((H+1, P+1), np.float32)]
    w[1][:-1] = r.standard_normal((H, P+1))*.2
    m = [0*v for v in w]; s = [0*v for v in w]; avg = [0*v for v in w]; tot = cnt = 0
    for k in range(steps):
        pick = np.flatnonzero(r.random(n) < B/n)
        g, loss, cl = step(w, a[pick], l[pick], C)
        tot += loss; cnt += float((np.minimum(l[pick], T-1)+1).sum())
        rate = lr*min(1, 2*(1-k/steps))
        for i in range(2):
            v = (g[i] + r.standard_normal(g[i].shape).astype(np.float32)*sigma*C)/B
            m[i] = .9*m[i]+.1*v; s[i] = .99*s[i]+.01*v*v
            w[i] = w[i] - rate*(m[i]/(1-.9**(k+1)))/(np.sqrt(s[i]/(1-.99**(k+1)))+1e-8)
            avg[i] = .98*avg[i]+.02*w[i]
        if k % 100 == 99:
            print(k+1, 'loss %.4f clipped %.2f' % (tot/cnt, cl/max(len(pick), 1)), flush=True)
            tot = cnt = 0
    return [v/(1-.98**steps) for v in avg]
def sample(w, n, seed, path):
    r = np.random.default_rng(seed+1000); os.makedirs(path, exist_ok=True); u0 = 0
    with open(path+'/visits.csv', 'w') as f:
        f.write('user,page\n')
        for lo in range(0, n, 20000):
            b = min(20000, n-lo); a = np.full((b, T), -1, np.int8); live = np.arange(b); ended = 0
            for t in range(T):
                x = inputs(a[live], t)[:, t]
                p = forward(w, x)[2]
                if t == 0: p[:, P] = 0; p /= p.sum(1, keepdims=True)
                y = (p.cumsum(1) < r.random((len(live), 1))).sum(1); y = np.minimum(y, P)
                live, y = live[y < P], y[y < P]; a[live, t] = y
                if not len(live): break
            L = (a >= 0).sum(1)
            ids = np.repeat(np.arange(lo, lo+b), L); v = a[a >= 0]+1
            f.write(''.join('%d,%d\n' % q for q in zip(ids, v)))
def generated(n, seed):  # two kinds of users, chains of order two, geometric ends
    r = np.random.default_rng(seed)
    trans, start = r.dirichlet(np.ones(P)*.15, (2, P)), r.dirichlet(np.ones(P)*.4, 2)
    kind, a = r.random(n) < .3, np.full((n, T), -1, np.int8)
    cur, prev, live = np.zeros(n, int), np.zeros(n, int), np.ones(n, bool)
    for t in range(T):
        for k in (0, 1):
            i = np.flatnonzero(live & (kind == k))
            p = .5*trans[k][cur[i]] + .3*np.eye(P)[cur[i]] + .2*trans[k][prev[i]]
            p = np.broadcast_to(start[k], (len(i), P)) if t == 0 else p
            y = np.minimum((p.cumsum(1) < r.random((len(i), 1))).sum(1), P-1)
            prev[i] = cur[i]; cur[i] = y; a[i, t] = y
        live &= r.random(n) < np.where(kind, .9, .7)
    return a, (a >= 0).sum(1)
if __name__ == '__main__':
    B, steps, seed, out = int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[7]), sys.argv[8]
    a, l = generated(989818, 5) if sys.argv[1] == 'generated' else pack(load(sys.argv[1]))
    sample(train(a, l, B, steps, *map(float, sys.argv[4:7]), seed), len(a), seed, out)
