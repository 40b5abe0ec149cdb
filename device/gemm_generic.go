package device

// doGemmGeneric computes rows lo to hi−1 of C in tiles of 4×4 elements.
func doGemmGeneric(j *job, lo, hi int) {
	p := &j.product
	for i := lo; i < hi; i++ {
		j.kernels.scaleOrClear(p.beta, j.c.Row(i))
	}
	if p.k == 0 || p.alpha == 0 {
		return
	}
	const deep = 256
	var panel [4 * deep]float32
	for k0 := 0; k0 < p.k; k0 += deep {
		k1 := min(k0+deep, p.k)
		for n0 := 0; n0 < p.n; n0 += 4 {
			cols := min(4, p.n-n0)
			packGeneric(&panel, p, k0, k1, n0, cols)
			for i := lo; i < hi; i += 4 {
				tileGeneric(p, panel[:4*(k1-k0)], i, min(4, hi-i), n0, cols, k0)
			}
		}
	}
}

// packGeneric copies α op(B)[k0:k1, n0:n0+cols] so that the four numbers of a row are adjacent.
func packGeneric(panel *[4 * 256]float32, p *product, k0, k1, n0, cols int) {
	for k := k0; k < k1; k++ {
		for q := range 4 {
			v := float32(0)
			if q < cols {
				v = p.alpha * p.b[k*p.bk+(n0+q)*p.bn]
			}
			panel[4*(k-k0)+q] = v
		}
	}
}

// tileGeneric adds the product of up to four rows and a panel to C. If there are fewer rows, the
// last row is repeated, and the additional results are dropped.
func tileGeneric(p *product, panel []float32, i, rows, n0, cols, k0 int) {
	var c [4][4]float32
	for r := range rows {
		copy(c[r][:cols], p.c[(i+r)*p.ldc+n0:])
	}
	last := i + rows - 1
	a0, a1, a2, a3 := i*p.ar+k0*p.ak, min(i+1, last)*p.ar+k0*p.ak, min(i+2, last)*p.ar+k0*p.ak,
		last*p.ar+k0*p.ak
	c00, c01, c02, c03 := c[0][0], c[0][1], c[0][2], c[0][3]
	c10, c11, c12, c13 := c[1][0], c[1][1], c[1][2], c[1][3]
	c20, c21, c22, c23 := c[2][0], c[2][1], c[2][2], c[2][3]
	c30, c31, c32, c33 := c[3][0], c[3][1], c[3][2], c[3][3]
	for len(panel) >= 4 {
		b0, b1, b2, b3 := panel[0], panel[1], panel[2], panel[3]
		panel = panel[4:]
		x := p.a[a0]
		c00, c01 = c00+float32(x*b0), c01+float32(x*b1)
		c02, c03 = c02+float32(x*b2), c03+float32(x*b3)
		x = p.a[a1]
		c10, c11 = c10+float32(x*b0), c11+float32(x*b1)
		c12, c13 = c12+float32(x*b2), c13+float32(x*b3)
		x = p.a[a2]
		c20, c21 = c20+float32(x*b0), c21+float32(x*b1)
		c22, c23 = c22+float32(x*b2), c23+float32(x*b3)
		x = p.a[a3]
		c30, c31 = c30+float32(x*b0), c31+float32(x*b1)
		c32, c33 = c32+float32(x*b2), c33+float32(x*b3)
		a0, a1, a2, a3 = a0+p.ak, a1+p.ak, a2+p.ak, a3+p.ak
	}
	c = [4][4]float32{{c00, c01, c02, c03}, {c10, c11, c12, c13}, {c20, c21, c22, c23},
		{c30, c31, c32, c33}}
	for r := range rows {
		copy(p.c[(i+r)*p.ldc+n0:][:cols], c[r][:cols])
	}
}
