// Signs and verifies with viem and jose. Reads one JSON request a line, and answers each
// with a line. Nothing here is this project's code.
import { createInterface } from "node:readline";
import { SignJWT, createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify } from "jose";
import { verifyTypedData } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const types = {
  TransferWithAuthorization: [
    { name: "from", type: "address" }, { name: "to", type: "address" }, { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" }, { name: "validBefore", type: "uint256" }, { name: "nonce", type: "bytes32" },
  ],
};
const domains = {
  base: { name: "USD Coin", version: "2", chainId: 8453, verifyingContract: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" },
  "base-sepolia": { name: "USDC", version: "2", chainId: 84532, verifyingContract: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" },
};

const operations = {
  // The header of a payment that viem signs.
  async pay({ key, network, to, value, validAfter, validBefore, nonce }) {
    const account = privateKeyToAccount(key);
    const message = { from: account.address, to, value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore), nonce };
    const signature = await account.signTypedData({ domain: domains[network], types, primaryType: "TransferWithAuthorization", message });
    const authorization = { from: account.address, to, value, validAfter, validBefore, nonce };
    return btoa(JSON.stringify({ x402Version: 1, scheme: "exact", network, payload: { signature, authorization } }));
  },
  // Whether viem finds the signature of a header right.
  async verifyPayment({ header }) {
    const { network, payload: { signature, authorization: a } } = JSON.parse(atob(header));
    return verifyTypedData({
      address: a.from, domain: domains[network], types, primaryType: "TransferWithAuthorization", signature,
      message: { ...a, value: BigInt(a.value), validAfter: BigInt(a.validAfter), validBefore: BigInt(a.validBefore) },
    });
  },
  // Whether viem finds a signature of typed data right, as eth_signTypedData_v4 has it.
  async verifyTyped({ typed: { domain, types: { EIP712Domain: _, ...rest }, primaryType, message }, signature, address }) {
    return verifyTypedData({ address, domain: { ...domain, chainId: Number(domain.chainId) }, types: rest, primaryType, message, signature });
  },
  // A credential that jose signs, and its keys.
  async signCredential({ claims, kid }) {
    const { publicKey, privateKey } = await generateKeyPair("RS256");
    const jwt = await new SignJWT(claims).setProtectedHeader({ alg: "RS256", typ: "JWT", kid }).sign(privateKey);
    return { jwt, jwks: { keys: [{ ...(await exportJWK(publicKey)), alg: "RS256", use: "sig", kid }] } };
  },
  // The claims of a credential that jose finds right.
  async verifyCredential({ jwt, jwks, issuer, audience }) {
    const { payload } = await jwtVerify(jwt, createLocalJWKSet(jwks), { issuer, audience, algorithms: ["RS256"] });
    return payload;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { op, ...args } = JSON.parse(line);
  try {
    console.log(JSON.stringify({ value: await operations[op](args) }));
  } catch (err) {
    console.log(JSON.stringify({ error: String(err) }));
  }
}
