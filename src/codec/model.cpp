// SPDX-License-Identifier: BSD-3-Clause
#include "codec/model.hpp"

#include "base/settings.hpp"
#include "codec/accounting.hpp"

namespace telpher::codec {

double compressed_time(const speeds& v, double plain, double coded) noexcept {
  return v.start + plain / v.encode + coded / v.link + plain / v.decode;
}

bool pays(const plan& p) noexcept {
  const settings& s = config();
  const auto codec = static_cast<double>(s.compression_codec);
  const speeds v{static_cast<double>(s.compression_link), codec, codec};
  const auto plain = static_cast<double>(plain_bytes(p));
  const double coded = p.how == method::zfp ? static_cast<double>(most_bytes(p))
                                            : plain / totals_of(method::mpc).ratio();
  return pays(v, plain, coded);
}

}  // namespace telpher::codec
