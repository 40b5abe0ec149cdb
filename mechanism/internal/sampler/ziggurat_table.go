package sampler

import "math/bits"

// layers is the number of layers. positionBits is the number of bits of a word for the position
// across a layer; the other bits are for the layer and the sign.
const (
	layerBits    = 9
	layers       = 1 << layerBits
	positionBits = 63 - layerBits
)

// The layers below cover the area under exp(−x²/2), from the bottom up. The sampler chooses a layer
// uniformly. TestLayersCoverTheNormal proves in interval arithmetic that the layers have exactly
// equal areas and cover the curve.

// layerFloor is the height at which each layer begins, as a multiple of 2^-62: the sum of the
// heights of the layers below. layerWidth is the width of each layer, as a multiple of 2^-60,
// rounded down. layerInner is a fraction of each layer's width, as a multiple of 2^-54, that lies
// wholly under the curve: nearly all that the next layer covers, and nothing of the top layer.
var layerFloor, layerWidth, layerInner = layersOf(&layerHeight)

// layersOf returns where layers of equal area lie, given their heights.
func layersOf(heights *[layers]uint64) (floor, width, inner [layers]uint64) {
	// The common area of the layers in units of 2^-122, rounded down. Dividing it by a height rounds
	// a width down, since the heights are whole numbers.
	const area = (bottomHeight * (tailStart*tailStart + 1<<80) << 60) / (tailStart << 40)
	for i, height := range heights {
		if i > 0 {
			floor[i] = floor[i-1] + heights[i-1]
			// The widths are to each other as the inverse heights. Rounded heights move the corners of a
			// layer by less than 8.
			part, _ := bits.Div64(heights[i-1]>>10, heights[i-1]<<54, height)
			inner[i-1] = part - 8
		}
		width[i], _ = bits.Div64(area>>64, area&(1<<64-1), height)
	}
	return floor, width, inner
}

// tailStart is the abscissa, as a multiple of 2^-40, at which the exponential tail of the bottom
// layer begins.
const tailStart = 4236460091310

// bottomHeight is the height of the bottom layer, as a multiple of 2^-62.
const bottomHeight = 0x9c99bdc336ba3

// layerHeight is the height of each layer, as a multiple of 2^-62. Every layer has the area of the
// bottom layer, h·(r + 1/r). So its width is this area ÷ its height.
var layerHeight = [layers]uint64{
	bottomHeight, 0xa72621e20f8b6, 0xaffac4128e1eb, 0xb5f9f91c6e43f,
	0xbaa9c50af1b8d, 0xbe93f4a6fce05, 0xc1fa5a969a131, 0xc501e5d3b5131,
	0xc7c1895119f1a, 0xca4893bf2879a, 0xcca1c75248f88, 0xced5034f3a074,
	0xd0e83a3022508, 0xd2e0087413bf7, 0xd4c0156958e98, 0xd68b53b887d34,
	0xd8442dd6509f7, 0xd9eca57789e99, 0xdb866a5b9e16a, 0xdd12eb27e7212,
	0xde936219b2ec2, 0xe008debd79201, 0xe1744d79b6d4f, 0xe2d67d7d437a0,
	0xe430257730553, 0xe581e761d9b20, 0xe6cc53971f1f7, 0xe80feb55d6ecf,
	0xe94d22d6a28c6, 0xea84630714990, 0xebb60afccd4db, 0xece2712e41bee,
	0xee09e47bebeb0, 0xef2cad1261b79, 0xf04b0d2c174c4, 0xf16541b83b8d6,
	0xf27b82eb12f70, 0xf38e04bb63970, 0xf49cf74fdf02f, 0xf5a8875ef2e4a,
	0xf6b0de82fe970, 0xf7b6238496a24, 0xf8b87a9c3951f, 0xf9b805ac9ed39,
	0xfab4e476a0b13, 0xfbaf34c78e05e, 0xfca712a2a1f29, 0xfd9c98663754c,
	0xfe8fdeed3e96a, 0xff80fdad67d84, 0x100700ad264046, 0x1015d1b569224b,
	0x10248431963081, 0x1033194f3b3bbc, 0x1041922ca57287, 0x104fefd9f0021a,
	0x105e3359fb72e2, 0x106c5da35021e9, 0x107a6fa0edf084, 0x10886a330b0553,
	0x10964e2fc34392, 0x10a41c63b9ee69, 0x10b1d592aec4c4, 0x10bf7a7807be2d,
	0x10cd0bc7507167, 0x10da8a2cb011c7, 0x10e7f64d56d7b7, 0x10f550c7e39323,
	0x11029a34c2137e, 0x110fd32682ffe8, 0x111cfc2a2dab22, 0x112a15c78c6155,
	0x1137208173a1f1, 0x11441cd604ad23, 0x11510b3eebc2ce, 0x115dec319a6885,
	0x116ac01f7e043a, 0x1177877633128e, 0x1184429fb53964, 0x1190f2028c71d8,
	0x119d9601f77fa7, 0x11aa2efe13e78b, 0x11b6bd540391fa, 0x11c3415e1043e2,
	0x11cfbb73cd13c4, 0x11dc2bea35fe58, 0x11e89313cdbb30, 0x11f4f140b9ef42,
	0x120146beddd8e7, 0x120d93d9f38ed2, 0x1219d8dba3e98a, 0x1226160b9d2d29,
	0x12324bafa88797, 0x123e7a0bbe75f2, 0x124aa1621a2277, 0x1256c1f34bcb0b,
	0x1262dbfe4a3f61, 0x126eefc083849c, 0x127afd75ecab65, 0x1287055910e48e,
	0x129307a31fdf6c, 0x129f048bfb7c7e, 0x12aafc4a44de10, 0x12b6ef1368e015,
	0x12c2dd1babffb4, 0x12cec69635ba93, 0x12daabb51b6d47, 0x12e68ca96ab808,
	0x12f269a333701d, 0x12fe42d191243b, 0x130a1862b43995, 0x1315ea83eaa70f,
	0x1321b961a853a9, 0x132d85278f1cef, 0x13394e007689eb, 0x13451416732edd,
	0x1350d792ddc5b5, 0x135c989e59ff0c, 0x13685760dd0f35, 0x13741401b3faac,
	0x137fcea789a520, 0x138b87786ca601, 0x13973e99d4e56d, 0x13a2f430a9041f,
	0x13aea8614390e9, 0x13ba5b4f780e1b, 0x13c60d1e97c90c, 0x13d1bdf17685fb,
	0x13dd6dea6f0237, 0x13e91d2b674e8e, 0x13f4cbd5d503c1, 0x14007a0ac152c4,
	0x140c27eaccf263, 0x1417d59633ebe3, 0x1423832cd1480f, 0x142f30ce229e21,
	0x143ade994b85d1, 0x14468cad18edde, 0x14523b2804583b, 0x145dea2836fd00,
	0x146999cb8cd553, 0x14754a2f978f2b, 0x1480fb71a16b15, 0x148cadaeb004ca,
	0x1498610387079d, 0x14a4158caacf82, 0x14afcb6662f798, 0x14bb82acbcd6f0,
	0x14c73b7b8dec59, 0x14d2f5ee7639e9, 0x14deb220e290f2, 0x14ea702e0ecf0a,
	0x14f63031080cce, 0x1501f244aebeed, 0x150db683b8ca26, 0x15197d08b38aab,
	0x152545ee05cf88, 0x1531114df1ca89, 0x153cdf4296f517, 0x1548afe5f3ea8b,
	0x15548351e8386f, 0x156059a036250c, 0x156c32ea846cc3, 0x15780f4a5ff68e,
	0x1583eed93d8008, 0x158fd1b07b416b, 0x159bb7e96289ce, 0x15a7a19d295407,
	0x15b38ee4f3d484, 0x15bf7fd9d6006b, 0x15cb7494d50e57, 0x15d76d2ee8f0f5,
	0x15e369c0fdcbd5, 0x15ef6a63f562b6, 0x15fb6f30a88387, 0x1607783fe86b74,
	0x161385aa802730, 0x161f978935eec4, 0x162badf4cc7d1a, 0x1637c90604638d,
	0x1643e8d59d59a0, 0x16500d7c578934, 0x165c3712f4d758, 0x166865b23a29f6,
	0x16749972f0aa92, 0x1680d26de70647, 0x168d10bbf2ab38, 0x16995475f103a7,
	0x16a59db4c8aeda, 0x16b1ec916ab807, 0x16be4124d3cb67, 0x16ca9b880d69aa,
	0x16d6fbd42f19ef, 0x16e362225f9a6b, 0x16efce8bd60fee, 0x16fc4129db3465,
	0x1708ba15ca8494, 0x17153969136d18, 0x1721bf3d3a76e9, 0x172e4babda7384,
	0x173adecea5a8d4, 0x174778bf66fd10, 0x175419980322a9, 0x1760c17279c474,
	0x176d7068e6b22f, 0x177a2695830d8b, 0x1786e412a677d8, 0x1793a8fac8407f,
	0x17a07568809467, 0x17ad497689ae70, 0x17ba253fc1091d, 0x17c708df289198,
	0x17d3f46fe7dc3a, 0x17e0e80d4d5aa2, 0x17ede3d2cf93a0, 0x17fae7dc0e5cf7,
	0x1807f444d41730, 0x1815092916eb9c, 0x182226a4fa0c9c, 0x182f4cd4cef868,
	0x183c7bd516be6a, 0x1849b3c2834753, 0x1856f4b9f8a012, 0x18643ed88e47d8,
	0x1871923b908138, 0x187eef0081a6a7, 0x188c55451b8266, 0x1899c52750aa0f,
	0x18a73ec54ddde2, 0x18b4c23d7b6bfe, 0x18c24fae7e97a7, 0x18cfe7373b04cc,
	0x18dd88f6d427ea, 0x18eb350caeba7f, 0x18f8eb9872342d, 0x1906acba0a48c6,
	0x19147891a86b58, 0x19224f3fc5567d, 0x193030e5229a03, 0x193e1da2cc2e30,
	0x194c159a1a0cc2, 0x195a18ecb1cfdd, 0x196827bc88571f, 0x1976422be372fb,
	0x1984685d5b96a7, 0x19929a73dd90ad, 0x19a0d892ac4a7b, 0x19af22dd628f03,
	0x19bd7977f4d8bf, 0x19cbdc86b3273a, 0x19da4c2e4adc6a, 0x19e8c893c8a204,
	0x19f751dc9a5717, 0x1a05e82e910621, 0x1a148bafe2e3d5, 0x1a233c872d56ef,
	0x1a31fadb770931, 0x1a40c6d43201f0, 0x1a4fa0993dca5d, 0x1a5e8852e99bdf,
	0x1a6d7e29f698c4, 0x1a7c82479a0f90, 0x1a8b94d57fc938, 0x1a9ab5fdcc62a0,
	0x1aa9e5eb1fb1a0, 0x1ab924c89735ea, 0x1ac872c1d09627, 0x1ad7d002ec29a7,
	0x1ae73cb88f8eef, 0x1af6b90fe84f92, 0x1b064536ae91b3, 0x1b15e15b27d780,
	0x1b258dac29cd29, 0x1b354a591d25a1, 0x1b45179200869b, 0x1b54f5876b8443,
	0x1b64e46a91ad02, 0x1b74e46d45a5e7, 0x1b84f5c1fc5810, 0x1b95189bd02f9f,
	0x1ba54d2e846cbc, 0x1bb593ae888718, 0x1bc5ec50fba48c, 0x1bd6574bb02355,
	0x1be6d4d52f387e, 0x1bf76524bca313, 0x1c0808725a74ae, 0x1c18bef6ccf004,
	0x1c2988eb9e7e15, 0x1c3a668b23ba9f, 0x1c4b58107f9890, 0x1c5c5db7a79f23,
	0x1c6d77bd684060, 0x1c7ea65f6949c4, 0x1c8fe9dc326fd9, 0x1ca142732ff586,
	0x1cb2b064b76fea, 0x1cc433f20ca7a3, 0x1cd5cd5d669862, 0x1ce77ce9f48fb2,
	0x1cf942dbe36be5, 0x1d0b1f7862fc2d, 0x1d1d1305ab82cd, 0x1d2f1dcb035a86,
	0x1d414010c4c049, 0x1d537a2063c250, 0x1d65cc447455c2, 0x1d7836c8b09427,
	0x1d8ab9f9ff21d3, 0x1d9d562679bea8, 0x1db00b9d740276, 0x1dc2daaf824669,
	0x1dd5c3ae80bce8, 0x1de8c6ed9ab96c, 0x1dfbe4c15229d1, 0x1e0f1d7f8742ce,
	0x1e22717f80611f, 0x1e35e119f22136, 0x1e496ca907af2e, 0x1e5d14886b50e5,
	0x1e70d9154f2c18, 0x1e84baae764a98, 0x1e98b9b43ddea1, 0x1eacd688a6c972,
	0x1ec1118f5f667a, 0x1ed56b2dcd9d57, 0x1ee9e3cb193d22, 0x1efe7bd036a38e,
	0x1f1333a7f1b260, 0x1f280bbef91623, 0x1f3d0483e9e0bc, 0x1f521e675b7af7,
	0x1f6759dbebf00f, 0x1f7cb7564c9657, 0x1f92374d4f186b, 0x1fa7da39f2e251,
	0x1fbda09772f62a, 0x1fd38ae3542c30, 0x1fe9999d73e1ee, 0x1fffcd48171cc4,
	0x20162667fa23fa, 0x202ca5846096d1, 0x20434b27260329, 0x205a17dccf019f,
	0x20710c349adc22, 0x208828c095c43d, 0x209f6e15ab9ea4, 0x20b6dccbbb69a9,
	0x20ce757dab44ad, 0x20e638c97d1ebd, 0x20fe27506412ed, 0x211641b6da7951,
	0x212e88a4b8b3aa, 0x2146fcc54cbd4c, 0x215f9ec7728615, 0x21786f5dad20a3,
	0x21916f3e40cc59, 0x21aa9f234de43c, 0x21c3ffcaecbc04, 0x21dd91f74a7550,
	0x21f7566ec6d744, 0x22114dfc133371, 0x222b796e52636c, 0x2245d99939eaf9,
	0x22606f55344b5c, 0x227b3b7f8494ed, 0x22963efa6b44ca, 0x22b17aad4c7d1a,
	0x22ccef84d7a739, 0x22e89e73308fbb, 0x230488701a0d3d, 0x2320ae792243a5,
	0x233d1191d0969d, 0x2359b2c3d55ed0, 0x2376931f3b76b7, 0x2393b3ba9bb4b0,
	0x23b115b352696d, 0x23ceba2db6fae6, 0x23eca25555b570, 0x240acf5d2beddd,
	0x2429427fe6912f, 0x2447fd00233fe8, 0x24670028b414b6, 0x24864d4ce63813,
	0x24a5e5c8cb6459, 0x24c5cb01867fc8, 0x24e5fe659b7451, 0x2506816d426f1c,
	0x2527559abeb46a, 0x25487c7ab93701, 0x2569f7a49f2532, 0x258bc8bb04a090,
	0x25adf16c0bd8a9, 0x25d07371d0c49b, 0x25f35092d9bafe, 0x26168aa28d2bb8,
	0x263a2381acc376, 0x265e1d1ed64534, 0x268279770a6b17, 0x26a73a963a252e,
	0x26cc6297da9257, 0x26f1f3a780159f, 0x2717f00180f108, 0x273e59f39fd5af,
	0x276533ddbee0db, 0x278c80329b85d7, 0x27b4417893ed1c, 0x27dc7a4a765b1a,
	0x28052d585b3b10, 0x282e5d688a75a4, 0x28580d586cc6fb, 0x2882401d89d51e,
	0x28acf8c693d5a2, 0x28d83a7c81a0e1, 0x29040883b821c3, 0x2930663d442320,
	0x295d5728258f77, 0x298adee2ad4d19, 0x29b9012beef829, 0x29e7c1e547d545,
	0x2a172513fc7341, 0x2a472ee2ee90a9, 0x2a77e3a46cfac9, 0x2aa947d41f3ff6,
	0x2adb60190f3694, 0x2b0e3147d28574, 0x2b41c064d689e6, 0x2b7612a6d12bd6,
	0x2bab2d795969f7, 0x2be1167faaa6ed, 0x2c17d397960626, 0x2c4f6adca573d3,
	0x2c87e2ab744836, 0x2cc141a541d43b, 0x2cfb8eb3c28d24, 0x2d36d10d35000f,
	0x2d731038c035c3, 0x2db0541321bd2f, 0x2deea4d3b230bb, 0x2e2e0b11c7baba,
	0x2e6e8fca7ee15a, 0x2eb03c66f2be2d, 0x2ef31ac2eebac2, 0x2f37353424ff3a,
	0x2f7c9691f5f4df, 0x2fc34a3dd69a6f, 0x300b5c2c64ef5d, 0x3054d8ef3b7555,
	0x309fcdbf96bae5, 0x30ec4889e217e6, 0x313a57fa434677, 0x318a0b8a3f5d0e,
	0x31db738f96edd2, 0x322ea14c7ac48d, 0x3283a7013efa4e, 0x32da97ffb6f2e5,
	0x333388c06a6ed7, 0x338e8ef9da4c43, 0x33ebc1ba12ffd0, 0x344b3982d36929,
	0x34ad106898a2b4, 0x35116234eb0ae4, 0x35784c8c565539, 0x35e1ef18865033,
	0x364e6bb714afef, 0x36bde6adaa1f20, 0x373086e42ec603, 0x37a67625e53534,
	0x381fe16a6f3606, 0x389cf927e7b0e8, 0x391df1af7138cf, 0x39a30395d7d45b,
	0x3a2c6c2a30d067, 0x3aba6dfcbfeca4, 0x3b4d5178da0d1d, 0x3be5659507ef5d,
	0x3c83009d55cd12, 0x3d26811c8feb80, 0x3dd04eea3305f3, 0x3e80dc6420fac6,
	0x3f38a7dcc997a8, 0x3ff83d4886c181, 0x40c038378d5f6d, 0x4191462d38b902,
	0x426c2969dd2d00, 0x4351bc4212ea16, 0x4442f52606f42a, 0x4540eb858960b3,
	0x464cddcb40cb2f, 0x476838bc13f8f5, 0x4894a0a197898b, 0x49d3fcca444759,
	0x4b28861d31791e, 0x4c94d9c864562e, 0x4e1c117c140096, 0x4fc1e3452d3472,
	0x518acc0c960f8e, 0x537c493af4c365, 0x559d285beeec11, 0x57f5f7791caeba,
	0x5a91a76fa51ea1, 0x5d7e7cff0206bb, 0x60cf82525e4a16, 0x649ed3221bbdf7,
	0x69116fa42a4899, 0x6e5df56ab73895, 0x74d9459afbc6f6, 0x7d107f79ea0796,
	0x8804fc58ef5959, 0x97cfe3240134ff, 0xb1e4e03a7b5074, 0xec3207d419dfcf,
}

// tailFrom is the last 54-bit position across the bottom layer that may still
// lie before tailStart.
const tailFrom = 16877549459219012
