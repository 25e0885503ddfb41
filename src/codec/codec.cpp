// SPDX-License-Identifier: BSD-3-Clause
#include "codec/codec.hpp"

#include <algorithm>

#include "kernel/cpu.hpp"

namespace telpher::codec {
namespace {

using kernel::id;
using kernel::mpc_stream;
using kernel::zfp_array;

constexpr std::size_t scratch_at = 256;  // in the workspace, after the word for the error
constexpr int mpc_threads = 256;
constexpr std::uint64_t most_blocks = 1 << 20;

id zfp_kernel(const plan& p, bool encoding) {
  static constexpr id table[2][2][3] = {
      {{id::zfp_decode_f32_1, id::zfp_decode_f32_2, id::zfp_decode_f32_3},
       {id::zfp_decode_f64_1, id::zfp_decode_f64_2, id::zfp_decode_f64_3}},
      {{id::zfp_encode_f32_1, id::zfp_encode_f32_2, id::zfp_encode_f32_3},
       {id::zfp_encode_f64_1, id::zfp_encode_f64_2, id::zfp_encode_f64_3}}};
  return table[encoding][p.kind == element::f64][p.dims - 1];
}

zfp_array zfp_parameters(const plan& p, const void* values, const void* stream, void* worst) {
  return {const_cast<void*>(values),
          static_cast<std::uint32_t*>(const_cast<void*>(stream)),
          {p.extent[0], p.extent[1], p.extent[2]},
          pieces(p),
          p.detail,
          static_cast<std::uint32_t*>(worst)};
}

mpc_stream mpc_parameters(const plan& p, const void* values, const void* stream, void* scratch,
                          std::size_t bytes) {
  const std::uint64_t chunks = pieces(p);
  const std::size_t payload_at = (chunks + 2) / 2 * 8;
  auto* offsets = static_cast<std::uint32_t*>(const_cast<void*>(stream));
  return {const_cast<void*>(values),
          p.extent[0],
          chunks,
          (bytes - payload_at) / 4,
          p.detail,
          static_cast<std::uint32_t*>(scratch),
          offsets,
          offsets + payload_at / 4};
}

int grid(std::uint64_t blocks) {
  return static_cast<int>(std::clamp<std::uint64_t>(blocks, 1, most_blocks));
}

int zfp_grid(const plan& p) {
  const unsigned tile = zfp_array::threads_for(p.dims);
  return grid((pieces(p) + tile - 1) / tile);
}

bool wide(const plan& p) {
  return size_of(p.kind) == 8;
}

status encode_zfp(device::backend& b, device::stream s, const plan& p, const void* from, void* to,
                  void* workspace, report* out) {
  TELPHER_TRY(b.fill(workspace, 0, sizeof(std::uint32_t), s));
  const zfp_array a = zfp_parameters(p, from, to, workspace);
  TELPHER_TRY(b.launch(zfp_kernel(p, true), &a, zfp_grid(p),
                       static_cast<int>(zfp_array::threads_for(p.dims)), s));
  return b.copy(&out->error_exponent, workspace, sizeof(std::uint32_t), s);
}

status encode_mpc(device::backend& b, device::stream s, const plan& p, const void* from, void* to,
                  void* workspace, report* out) {
  const mpc_stream m =
      mpc_parameters(p, from, to, static_cast<std::byte*>(workspace) + scratch_at, most_bytes(p));
  const int blocks = grid(m.chunks);
  TELPHER_TRY(
      b.launch(wide(p) ? id::mpc_encode_64 : id::mpc_encode_32, &m, blocks, mpc_threads, s));
  TELPHER_TRY(b.launch(id::mpc_place, &m, 1, kernel::mpc_place::most_threads, s));
  TELPHER_TRY(b.launch(id::mpc_gather, &m, blocks, mpc_threads, s));
  return b.copy(&out->payload_words, m.offsets + m.chunks, sizeof(std::uint32_t), s);
}

static_assert(sizeof(zfp_array) == sizeof(kernel::zfp_blocks<1>) &&
              sizeof(mpc_stream) == sizeof(kernel::mpc_place));

class kernels final : public coder {
 public:
  std::size_t workspace_bytes(const plan& p) const noexcept override {
    return scratch_at + (p.how == method::mpc ? pieces(p) * mpc_stream::slot_words * 4 : 0);
  }

  status encode(device::backend& b, device::stream s, const plan& p, const void* from, void* to,
                void* workspace, report* out) const noexcept override {
    *out = {};
    if (reinterpret_cast<std::uintptr_t>(from) % size_of(p.kind) != 0) return status::not_supported;
    return p.how == method::zfp ? encode_zfp(b, s, p, from, to, workspace, out)
                                : encode_mpc(b, s, p, from, to, workspace, out);
  }

  status decode(device::backend& b, device::stream s, const plan& p, const void* from,
                std::size_t bytes, void* to) const noexcept override {
    if (p.how == method::zfp) {
      const zfp_array a = zfp_parameters(p, to, from, nullptr);
      return b.launch(zfp_kernel(p, false), &a, zfp_grid(p),
                      static_cast<int>(zfp_array::threads_for(p.dims)), s);
    }
    const mpc_stream m = mpc_parameters(p, to, from, nullptr, bytes);
    return b.launch(wide(p) ? id::mpc_decode_64 : id::mpc_decode_32, &m, grid(m.chunks),
                    mpc_threads, s);
  }

  status decode_on_cpu(const plan& p, const void* from, std::size_t bytes,
                       void* to) const noexcept override {
    if (p.how == method::zfp) {
      const zfp_array a = zfp_parameters(p, to, from, nullptr);
      kernel::cpu_codec_of(zfp_kernel(p, false)).run_block(&a, 0, 1);
    } else {
      const mpc_stream m = mpc_parameters(p, to, from, nullptr, bytes);
      kernel::cpu_codec_of(wide(p) ? id::mpc_decode_64 : id::mpc_decode_32).run_block(&m, 0, 1);
    }
    return status::ok;
  }

  std::size_t coded_bytes(const plan& p, const report& r) const noexcept override {
    if (p.how == method::zfp) return most_bytes(p);
    return (pieces(p) + 2) / 2 * 8 + std::size_t{4} * r.payload_words;
  }

  std::optional<int> error_exponent(const plan& p, const report& r) const noexcept override {
    if (p.how != method::zfp || r.error_exponent == 0) return std::nullopt;
    return static_cast<int>(r.error_exponent) - zfp_array::exponent_zero;
  }
};

}  // namespace

const coder* the_coder() noexcept {
  static constexpr kernels one;
  return &one;
}

}  // namespace telpher::codec
