#!/usr/bin/env python3
"""Write the reference files of tests/reference/: small models with their logits, loss and gradients, and 20 updates.

An implementation of the model that shares nothing with the C sources: torch, float64, automatic differentiation, one
sentence at a time. Needs torch and numpy only (Debian: python3-torch, python3-numpy); the C tests need neither.

    python3 scripts/make_reference.py [--output tests/reference]
"""
import argparse
import json
import math
import os
import struct
from collections import namedtuple

import numpy as np
import torch

BOS, EOS, FIRST_WORD, LAYERS, LN_EPS = 0, 2, 3, 2, 1e-5     # <s>, </s>; 1 is <pad>, never used


class Config(namedtuple("Config", "norm activation tie H K Vd D_enc D_dec ffn V_src V_tgt eps")):
    def metadata(self):
        return {"norm": self.norm, "activation": self.activation, "tie_embeddings": self.tie, "heads": self.H,
                "d_k": self.K, "d_v": self.Vd, "encoder_d_model": self.D_enc, "decoder_d_model": self.D_dec,
                "ffn_dim": self.ffn, "encoder_layers": LAYERS, "decoder_layers": LAYERS, "source_vocab": self.V_src,
                "target_vocab": self.V_tgt, "label_smoothing": self.eps}

    def embeddings(self):
        """Names of the source embedding, the target embedding and the output matrix."""
        if self.tie == "all":
            return ("model.shared.weight",) * 3
        source, target = "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"
        return source, target, target if self.tie == "decoder" else "lm_head.weight"

    def shapes(self):
        """Every parameter's name and shape; a tied matrix stands once."""
        source, target, output = self.embeddings()
        out = {source: (self.V_src, self.D_enc), target: (self.V_tgt, self.D_dec), output: (self.V_tgt, self.D_dec)}
        def add(name, *shape):
            out[name + ".weight"], out[name + ".bias"] = shape, shape[:1]

        for side, D in (("encoder", self.D_enc), ("decoder", self.D_dec)):
            for i in range(LAYERS):
                layer = f"model.{side}.layers.{i}"
                for attn, D_kv in (("self_attn", D), ("encoder_attn", self.D_enc))[:1 if side == "encoder" else 2]:
                    QK, V = self.H * self.K, self.H * self.Vd
                    for proj, shape in (("q", (QK, D)), ("k", (QK, D_kv)), ("v", (V, D_kv)), ("out", (D, V))):
                        add(f"{layer}.{attn}.{proj}_proj", *shape)
                    add(f"{layer}.{attn}_layer_norm", D)
                add(layer + ".fc1", self.ffn, D)
                add(layer + ".fc2", D, self.ffn)
                add(layer + ".final_layer_norm", D)
            if self.norm == "pre":
                add(f"model.{side}.layer_norm", D)
        return out


CASES = {  # name: (configuration, seed, source lengths, target lengths), lengths with </s>
    "post_relu_tied_all": (Config("post", "relu", "all", 2, 4, 4, 8, 8, 12, 23, 23, 0.1), 1, (4, 1, 9, 6, 3), (5, 7, 1, 9, 4)),
    "pre_gelu_untied_wide": (Config("pre", "gelu", "none", 3, 4, 5, 6, 10, 14, 19, 21, 0.1), 2, (5, 8, 1, 9, 2), (9, 1, 6, 3, 8)),
    "post_gelu_tied_decoder": (Config("post", "gelu", "decoder", 2, 3, 5, 8, 8, 12, 17, 23, 0.0), 3, (1, 9, 2, 5, 7), (1, 3, 9, 2, 6)),
}
TRAJECTORY = {"adam_beta1": 0.9, "adam_beta2": 0.98, "adam_eps": 1e-9, "lr": 0.01, "warmup": 8, "clip_norm": 0.9, "updates": 20,
              "sentences_of_update": "update u = 1..20 uses the sentences (u*3 + 0..3) mod 12",
              "schedule": "lr * min(u/warmup, sqrt(warmup/u))", "checksum_of_update": "sum of p_i * cos(i), names sorted"}
TRAJECTORY_LENGTHS = (4, 1, 9, 6, 3, 8, 2, 7, 5, 9, 3, 6), (5, 7, 2, 9, 4, 6, 1, 8, 3, 9, 5, 2)


# The formulas. x [N,D]; of one head q [T,K], k [S,K], v [S,Vd].
nearest = {}        # how well conditioned a model is: the relu input nearest to 0, the least variance in a layer norm


def layer_norm(x, weight, bias):
    centred = x - x.mean(1, keepdim=True)
    variance = (centred * centred).mean(1, keepdim=True)
    nearest["least variance in a norm"] = min(nearest.get("least variance in a norm", math.inf), variance.min().item())
    return centred / torch.sqrt(variance + LN_EPS) * weight + bias


def activate(x, kind):
    if kind == "gelu":
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
    nearest["relu input nearest to 0"] = min(nearest.get("relu input nearest to 0", math.inf), x.abs().min().item())
    return torch.where(x > 0, x, torch.zeros_like(x))


def attend(q, k, v, causal):
    scores = q @ k.T / math.sqrt(q.shape[1])
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -math.inf)
    weights = torch.exp(scores - scores.max(1, keepdim=True)[0])
    return weights / weights.sum(1, keepdim=True) @ v


def cross_entropy(logits, target, eps):
    """Sum over the rows of -sum_c t_c log p_c, t = (1-eps) on the target plus eps/V on every class."""
    log_p = logits - torch.logsumexp(logits, 1, keepdim=True)
    t = torch.full_like(logits, eps / logits.shape[1])
    t[torch.arange(len(target)), target] += 1 - eps
    return -(t * log_p).sum()


def positions(N, D):
    angle = np.arange(N)[:, None] / 10000.0 ** (2 * np.arange(D // 2) / D)
    return torch.from_numpy(np.concatenate([np.sin(angle), np.cos(angle)], axis=1))


def transformer(p, c, source, target_in):
    """Logits [T,V_tgt] of one sentence pair."""
    def linear(x, name):
        return x @ p[name + ".weight"].T + p[name + ".bias"]

    def norm(x, name):
        return layer_norm(x, p[name + ".weight"], p[name + ".bias"])

    def attention(x_q, x_kv, name, causal):
        q, k, v = linear(x_q, name + ".q_proj"), linear(x_kv, name + ".k_proj"), linear(x_kv, name + ".v_proj")
        heads = zip(q.split(c.K, 1), k.split(c.K, 1), v.split(c.Vd, 1))
        return linear(torch.cat([attend(*head, causal) for head in heads], 1), name + ".out_proj")

    def sublayer(x, norm_name, function):
        return norm(x + function(x), norm_name) if c.norm == "post" else x + function(norm(x, norm_name))

    def side(name, ids, E, memory):
        D = E.shape[1]
        x = E[ids] * math.sqrt(D) + positions(len(ids), D)
        for i in range(LAYERS):
            layer = f"model.{name}.layers.{i}"
            x = sublayer(x, layer + ".self_attn_layer_norm",
                         lambda u: attention(u, u, layer + ".self_attn", causal=memory is not None))
            if memory is not None:
                x = sublayer(x, layer + ".encoder_attn_layer_norm",
                             lambda u: attention(u, memory, layer + ".encoder_attn", causal=False))
            x = sublayer(x, layer + ".final_layer_norm",
                         lambda u: linear(activate(linear(u, layer + ".fc1"), c.activation), layer + ".fc2"))
        return norm(x, f"model.{name}.layer_norm") if c.norm == "pre" else x

    E_src, E_tgt, W_out = (p[name] for name in c.embeddings())
    memory = side("encoder", source, E_src, None)
    return side("decoder", target_in, E_tgt, memory) @ W_out.T


def run(parameters, c, pairs):
    """Logits, mean loss and nll per target token, and the loss's gradients; pairs are (source, target_in, target_out)."""
    p = {name: torch.tensor(value, requires_grad=True) for name, value in parameters.items()}
    rows = sum(len(target_out) for _, _, target_out in pairs)
    logits, loss, nll = [], 0, 0
    for source, target_in, target_out in pairs:
        logits.append(transformer(p, c, torch.tensor(source), torch.tensor(target_in)))
        loss = loss + cross_entropy(logits[-1], torch.tensor(target_out), c.eps) / rows
        nll += cross_entropy(logits[-1].detach(), torch.tensor(target_out), 0.0).item() / rows
    loss.backward()
    results = {"logits": torch.cat(logits).detach().numpy(), "loss": np.array([loss.item()]), "nll": np.array([nll])}
    return results, {name: t.grad.numpy() for name, t in p.items()}


def draw_parameters(c, rng):
    """Nothing at 0 or 1, so that every gradient is seen; multiples of 2^-12, so that the values are exact."""
    def draw(name, shape):
        scale = 0.4 if name in c.embeddings() else 1 / math.sqrt(shape[1]) if len(shape) == 2 else 0.2
        return np.round((rng.standard_normal(shape) * scale + ("norm.weight" in name)) * 4096) / 4096
    return {name: draw(name, shape) for name, shape in sorted(c.shapes().items())}


def draw_pairs(c, rng, source_lengths, target_lengths):
    pairs = []
    for S, T in zip(source_lengths, target_lengths):
        source, target = rng.integers(FIRST_WORD, c.V_src, S - 1).tolist(), rng.integers(FIRST_WORD, c.V_tgt, T - 1).tolist()
        pairs.append((source + [EOS], [BOS] + target, target + [EOS]))
    return pairs


def pair_tensors(pairs):
    out = {name: np.concatenate(ids) for name, ids in zip(("source", "target_in", "target_out"), zip(*pairs))}
    out["source_offsets"] = np.cumsum([0] + [len(source) for source, _, _ in pairs])
    out["target_offsets"] = np.cumsum([0] + [len(target_out) for _, _, target_out in pairs])
    return {name: a.astype("<i4") for name, a in out.items()}


def trajectory(parameters, c, pairs):
    """Adam (Kingma and Ba 2015, algorithm 1) on clipped gradients."""
    t, beta1, beta2 = TRAJECTORY, TRAJECTORY["adam_beta1"], TRAJECTORY["adam_beta2"]
    p = dict(parameters)
    m, v = ({name: np.zeros_like(value) for name, value in p.items()} for _ in range(2))
    log = []
    for u in range(1, t["updates"] + 1):
        results, grad = run(p, c, [pairs[(u * 3 + i) % len(pairs)] for i in range(4)])
        norm = math.sqrt(sum(float(np.sum(g * g)) for g in grad.values()))
        scale = min(1.0, t["clip_norm"] / norm)
        lr = t["lr"] * min(u / t["warmup"], math.sqrt(t["warmup"] / u))
        for name, g in grad.items():
            m[name] = beta1 * m[name] + (1 - beta1) * (scale * g)
            v[name] = beta2 * v[name] + (1 - beta2) * (scale * g) ** 2
            m_hat, v_hat = m[name] / (1 - beta1 ** u), v[name] / (1 - beta2 ** u)
            p[name] = p[name] - lr * m_hat / (np.sqrt(v_hat) + t["adam_eps"])
        flat = np.concatenate([p[name].ravel() for name in sorted(p)])
        checksum = np.sum(flat * np.cos(np.arange(len(flat), dtype=np.float64)))
        log.append((results["loss"][0], norm, lr, checksum))
    return p, dict(zip(("loss", "grad_norm", "lr", "checksum"), np.array(log).T))


def prefixed(prefix, tensors):
    return {prefix + name: value for name, value in tensors.items()}


def write_safetensors(path, tensors, metadata, remark):
    """8-byte header length, JSON header, data: the float64 tensors, then the int32 ones, so that all are aligned."""
    header, data = {"__metadata__": {"format": "pt", **{k: str(v) for k, v in metadata.items()}}}, b""
    for name in sorted(tensors, key=lambda n: (-tensors[n].itemsize, n)):
        tag, kind = ("F64", "<f8") if tensors[name].itemsize == 8 else ("I32", "<i4")
        raw = tensors[name].astype(kind).tobytes()
        header[name] = {"dtype": tag, "shape": tensors[name].shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":"))
    text = (text + " " * (-len(text) % 8)).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    print(f"{os.path.basename(path):35s} {len(tensors):3d} tensors {os.path.getsize(path):7d} bytes  {remark}"
          + "".join(f", {what} {value:.1e}" for what, value in nearest.items()))
    nearest.clear()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="tests/reference", help="directory (default: %(default)s)")
    args = parser.parse_args()
    os.makedirs(args.output, exist_ok=True)
    torch.set_num_threads(1)                            # one order of summation
    for name, (c, seed, source_lengths, target_lengths) in CASES.items():
        rng = np.random.default_rng(seed)
        parameters, pairs = draw_parameters(c, rng), draw_pairs(c, rng, source_lengths, target_lengths)
        results, grad = run(parameters, c, pairs)
        tensors = {**pair_tensors(pairs), **prefixed("param.", parameters), **prefixed("grad.", grad), **results}
        write_safetensors(os.path.join(args.output, name + ".safetensors"), tensors, c.metadata(),
                          f"loss {results['loss'][0]:.12f}, nll {results['nll'][0]:.12f}")

    rng, c = np.random.default_rng(4), CASES["post_relu_tied_all"][0]
    parameters, pairs = draw_parameters(c, rng), draw_pairs(c, rng, *TRAJECTORY_LENGTHS)
    final, log = trajectory(parameters, c, pairs)
    clipped = sum(log["grad_norm"] > TRAJECTORY["clip_norm"])
    tensors = {**pair_tensors(pairs), **prefixed("param.", parameters), **prefixed("final.", final), **log}
    write_safetensors(os.path.join(args.output, "trajectory.safetensors"), tensors, {**c.metadata(), **TRAJECTORY},
                      f"loss {log['loss'][0]:.4f} to {log['loss'][-1]:.4f}, {clipped} of {len(log['lr'])} clipped")
    print("gradient norms of the trajectory: " + " ".join(f"{norm:.3f}" for norm in log["grad_norm"]))


if __name__ == "__main__":
    main()
